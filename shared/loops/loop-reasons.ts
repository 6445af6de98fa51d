/** Why an answer ended that Recap stopped, among the reasons that models give: their text said the same again and again, */
export const LOOP_OF_TEXT = 'LOOP_OF_TEXT';
/** or they made the same calls again and again. */
export const LOOP_OF_CALLS = 'LOOP_OF_CALLS';

/** What of an answer repeated itself. */
export type LoopKind = 'text' | 'calls';

/** What the reason to stop that is stored with a turn says of a loop; undefined: there was none. */
export function loopKind(finishReason: string | undefined): LoopKind | undefined {
  if (finishReason === LOOP_OF_TEXT) return 'text';
  return finishReason === LOOP_OF_CALLS ? 'calls' : undefined;
}
