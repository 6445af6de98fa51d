import type { ComponentProps } from 'preact';
import { isOffline } from '#web/state/attempts.ts';

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

/** What did not work, until it is dismissed. */
export function ProblemBar(props: { error: Error | undefined; dismiss: (() => void) | undefined }) {
  const { error, dismiss } = props;
  if (!error) return null;
  return (
    <p class="note" role="alert">
      <span>
        {isOffline(error)
          ? 'No connection. It is tried again.'
          : `That did not work: ${error.message}`}
      </span>
      {dismiss && <Button class="link" text="Dismiss" onClick={dismiss} />}
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
