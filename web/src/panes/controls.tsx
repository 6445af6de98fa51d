import type { Signal } from '@preact/signals';
import type { ComponentProps } from 'preact';
import type { ApiError } from '../api/api-error.ts';
import type { App } from '../state/app.ts';

/** A button that sends no form. */
export const Button = ({
  text,
  children = text,
  ...attributes
}: ComponentProps<'button'> & { text?: string }) => (
  <button type="button" {...attributes}>
    {children}
  </button>
);

/** A button that shows a sign: its label is for who cannot see that, or points at it. */
export const IconButton = ({
  sign,
  label,
  ...attributes
}: ComponentProps<'button'> & { sign: string; label: string }) => (
  <Button class="icon-button" text={sign} aria-label={label} title={label} {...attributes} />
);

/** One of several options, and what each is called. */
export function Choice<T extends string | number>(input: {
  'aria-label'?: string;
  value: T;
  options: readonly T[];
  nameOf: (option: T) => string;
  onChoose: (option: T) => void;
}) {
  const { options, nameOf, onChoose, ...attributes } = input;
  return (
    <select
      {...attributes}
      onChange={({ currentTarget }) => {
        const chosen = options[currentTarget.selectedIndex];
        if (chosen !== undefined) onChoose(chosen);
      }}
    >
      {options.map((option) => (
        <option key={option} value={option}>
          {nameOf(option)}
        </option>
      ))}
    </select>
  );
}

/** What did not work, until it is dismissed. */
export function ProblemBar({ app, problem }: { app: App; problem: Signal<ApiError | undefined> }) {
  const { problems } = app.texts.value;
  const found = problem.value;
  if (!found) return null;
  return (
    <p class="problem" role="alert">
      <span>{found.code === 0 ? problems.offline : problems.generic(found.message)}</span>
      <Button class="link" text={problems.dismiss} onClick={() => (problem.value = undefined)} />
    </p>
  );
}

/** For `ref`: a dialog covers the page as soon as it is there. */
export const showModal = (dialog: HTMLDialogElement | null): void => dialog?.showModal();

/** For `onClick`: closes the dialog around the button. */
export const closeDialog = ({ currentTarget }: { currentTarget: Element }): void =>
  currentTarget.closest('dialog')?.close();

/** For `onSubmit`: the page stays where it is. */
export const submit =
  (send: () => void) =>
  (event: Event): void => {
    event.preventDefault();
    send();
  };
