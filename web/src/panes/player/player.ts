import { signal, type ReadonlySignal } from '@preact/signals';
import type { PlayableRecording } from './recording.ts';

/** `ended`: all of it was said. `left`: another conversation is shown. */
export type PlayerState = 'idle' | 'playing' | 'paused' | 'ended' | 'stopped' | 'left' | 'failed';

/** How a message of the recording ended. */
export type Played = 'answered' | 'left' | 'failed';

export interface Player {
  state: ReadonlySignal<PlayerState>;
  /** Messages that were answered. */
  position: ReadonlySignal<number>;
  recording: ReadonlySignal<PlayableRecording | undefined>;
  /** Begins from the first message; ends what is being played. */
  play(recording: PlayableRecording): Promise<void>;
  pause: () => void;
  resume: () => void;
  stop: () => void;
}

interface PlayerParts {
  /** Says a message and resolves when it is answered. */
  say: (text: string) => Promise<Played>;
  /** Between two messages; read before each. */
  gapMs: () => number;
  wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** Resolves when it is not paused, or not any more: what ends it then is read from the signal of the run. */
const untilResumed = (state: ReadonlySignal<PlayerState>): Promise<void> =>
  new Promise((resolve) => {
    const forget = state.subscribe((now) => {
      if (now === 'paused') return;
      resolve();
      // Not within the first call: there is nothing to forget yet.
      queueMicrotask(() => forget());
    });
  });

/** Says the messages of a recording, one after the answer to the other. */
export function createPlayer({ say, gapMs, wait }: PlayerParts): Player {
  const state = signal<PlayerState>('idle');
  const position = signal(0);
  const recording = signal<PlayableRecording | undefined>(undefined);
  let run = new AbortController();

  async function sayAll(messages: readonly string[], ended: AbortSignal): Promise<PlayerState> {
    for (const [index, text] of messages.entries()) {
      await untilResumed(state);
      if (ended.aborted) return 'stopped';
      const played = await say(text);
      if (ended.aborted) return 'stopped';
      if (played !== 'answered') return played;
      position.value = index + 1;
      if (index + 1 < messages.length) await wait(gapMs(), ended);
    }
    return 'ended';
  }

  return {
    state,
    position,
    recording,
    play: async (chosen) => {
      run.abort();
      const mine = new AbortController();
      run = mine;
      recording.value = chosen;
      position.value = 0;
      state.value = 'playing';
      const end = await sayAll(chosen.messages, mine.signal);
      // A newer run has the display now.
      if (run === mine) state.value = end;
    },
    pause: () => {
      if (state.peek() === 'playing') state.value = 'paused';
    },
    resume: () => {
      if (state.peek() === 'paused') state.value = 'playing';
    },
    stop: () => {
      if (state.peek() !== 'playing' && state.peek() !== 'paused') return;
      run.abort();
      state.value = 'stopped';
    },
  };
}
