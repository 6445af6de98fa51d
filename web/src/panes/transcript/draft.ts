import type { Signal } from '@preact/signals';

/** What is being written. */
export interface Draft {
  text: Signal<string>;
  /** The message that it takes the place of, and its turn; undefined: it is a new one. */
  edited: Signal<{ messageId: string; seq: number } | undefined>;
}

/** Whether a turn is one of those that the edit takes the place of. */
export const isToBeReplaced = ({ edited }: Draft, seq: number): boolean =>
  edited.value !== undefined && seq >= edited.value.seq;
