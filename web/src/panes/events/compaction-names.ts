import type { Texts } from '#web/text/en.ts';

type EventTexts = Texts['events'];

const nameIn = (names: Readonly<Record<string, string>>, key: string): string => names[key] ?? key;

/** A state in the reader's language; one of a later version as it is. */
export const stateName = (texts: EventTexts, state: string): string => nameIn(texts.state, state);

/** Why there was a compaction. */
export const triggerName = (texts: EventTexts, trigger: string): string =>
  nameIn(texts.trigger, trigger);

/** How an outcome looks: what changed, what did not, and what did not work. */
type OutcomeTone = 'changed' | 'neutral' | 'unchanged';

/** Nothing is an error to the reader: a compaction that failed changed nothing. */
export function outcomeTone(state: string): OutcomeTone {
  if (['COMPACTED', 'CONTENT_TRUNCATED', 'RESTORED', 'CHANGED'].includes(state)) return 'changed';
  return state === 'NOOP' || state === 'SUPERSEDED' || state === 'ABORTED'
    ? 'neutral'
    : 'unchanged';
}
