import type { Signal } from '@preact/signals';

/** What is being written. */
export interface Draft {
  text: Signal<string>;
  /** The message that it takes the place of; undefined: it is a new one. */
  edited: Signal<string | undefined>;
}
