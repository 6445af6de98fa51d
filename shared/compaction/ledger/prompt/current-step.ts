import type { Item, Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { lastSource } from '../operations/sources.ts';

/** The section whose items are steps. */
export const STEPS = 'task_state';

/** What stands behind the step that is being worked on; Gemini CLI's words. */
const FOCUS_MARK = ' <-- CURRENT FOCUS';
const written = /\s?<--\s?CURRENT FOCUS/giu;

/** The text of a step with the mark where it `isCurrent`; one that somebody wrote into the text is left out. */
export const stepText = (text: string, { isCurrent }: { isCurrent: boolean }): string =>
  `${text.replaceAll(written, '')}${isCurrent ? FOCUS_MARK : ''}`;

/**
 * The step that is being worked on: of those in progress the one that was spoken of last, of several the last in the
 * list. Undefined where none is.
 */
export function currentStep({ sections }: Snapshot): Item | undefined {
  const open = (sections[STEPS] ?? []).filter(({ status }) => status === 'in_progress');
  return open.toSorted((one, other) => lastSource(one) - lastSource(other)).at(-1);
}
