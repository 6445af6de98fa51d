import { effect, type ReadonlySignal } from '@preact/signals';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { pause } from '../waiting.ts';
import { WATCH_MS, watched, watchPaceMs } from './compaction-steps.ts';

interface ContextWatch {
  context: ReadonlySignal<ContextObject | undefined>;
  /** Reads a signal: the language of the page. */
  locale: () => string;
  /** Whether there is a conversation to ask for. */
  isBegun: () => boolean;
  /** Reads what has changed, or all of it anew; never rejects. */
  look: (isAnew: boolean) => Promise<void>;
  left: AbortSignal;
}

async function watchChanges({ context, isBegun, look, left }: ContextWatch): Promise<void> {
  let known = '';
  let changedAt = Date.now();
  for (let lookedAt = Date.now(); !left.aborted;) {
    await pause(WATCH_MS.moving, left);
    if (!isBegun() || left.aborted || document.hidden) continue;
    const { value } = context;
    if (watched(value) !== known) changedAt = Date.now();
    known = watched(value);
    if (Date.now() - lookedAt < watchPaceMs(value, Date.now() - changedAt)) continue;
    lookedAt = Date.now();
    await look(false);
  }
}

/** The service tells how compactions ended in the language that it is asked in. */
function watchLanguage({ locale, isBegun, look, left }: ContextWatch): void {
  let language = locale();
  const forget = effect(() => {
    if (locale() === language) return;
    language = locale();
    if (isBegun()) void look(true);
  });
  left.addEventListener('abort', forget, { once: true });
}

/** Keeps the context of a conversation fresh until it is left: compactions go on without a stream that would tell of them. */
export function watchContext(watch: ContextWatch): void {
  watchLanguage(watch);
  void watchChanges(watch);
}
