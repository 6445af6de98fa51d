import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Random } from './random.ts';

/** More than this wait for their request only when nobody asks the model. */
const MOST_WAITING = 6;

const faults: readonly { weight: number; draw: (random: Random) => Fault }[] = [
  { weight: 4, draw: (random) => ({ kind: 'quota', retryDelayMs: random.integer(100, 1_500) }) },
  { weight: 3, draw: () => ({ kind: 'internal' }) },
  { weight: 4, draw: () => ({ kind: 'unavailable' }) },
  { weight: 1, draw: () => ({ kind: 'htmlBadGateway' }) },
  { weight: 5, draw: (random) => ({ kind: 'cut', afterEvents: random.integer(0, 4) }) },
  { weight: 2, draw: (random) => ({ kind: 'silentEnd', afterEvents: random.integer(1, 4) }) },
  { weight: 2, draw: (random) => ({ kind: 'halfEvent', afterEvents: random.integer(0, 4) }) },
  { weight: 1, draw: () => ({ kind: 'errorEvent' }) },
  { weight: 3, draw: (random) => ({ kind: 'stall', delayMs: random.integer(300, 3_000) }) },
  { weight: 3, draw: (random) => ({ kind: 'delay', delayMs: random.integer(300, 2_500) }) },
  { weight: 2, draw: () => ({ kind: 'emptyCandidates' }) },
  { weight: 1, draw: () => ({ kind: 'emptyCandidates', shape: 'noParts' }) },
  { weight: 2, draw: (random) => ({ kind: 'safety', afterEvents: random.integer(0, 2) }) },
  { weight: 1, draw: () => ({ kind: 'blockedPrompt' }) },
  { weight: 2, draw: () => ({ kind: 'maxTokens' }) },
  { weight: 1, draw: () => ({ kind: 'missingUsage' }) },
  { weight: 1, draw: () => ({ kind: 'openEnd' }) },
  { weight: 1, draw: (random) => ({ kind: 'splitBytes', sizeBytes: random.integer(1, 7) }) },
];

const roles = ['chat', 'utility_compressor'] as const;

/** Lets requests to the fake Gemini meet faults, and counts those that did. */
export class ModelFaults {
  readonly #fakeGemini: FakeGemini;
  readonly #random: Random;
  readonly #waiting = { chat: 0, utility_compressor: 0 };
  readonly #onFault: (name: string) => void;

  constructor(fakeGemini: FakeGemini, random: Random, onFault: (name: string) => void) {
    this.#fakeGemini = fakeGemini;
    this.#random = random;
    this.#onFault = onFault;
  }

  /** One of the next requests meets a fault; every fourth time it is one for a summary. */
  queue(): void {
    this.count();
    const role = this.#random.chance(0.25) ? 'utility_compressor' : 'chat';
    if (this.#waiting[role] >= MOST_WAITING) return;
    this.#waiting[role] += 1;
    const fault = this.#random.weighted(faults).draw(this.#random);
    this.#fakeGemini.queueFaults({ ...fault, match: { role } });
  }

  /** Counts what was met since the last time; the journal of the fake Gemini forgets. */
  count(): void {
    for (const { role, fault } of this.#fakeGemini.journal()) {
      if (fault === undefined) continue;
      this.#onFault(`model: ${fault}`);
      const known = roles.find((each) => each === role);
      if (known) this.#waiting[known] -= 1;
    }
    this.#fakeGemini.clearJournal();
  }

  stop(): void {
    this.#fakeGemini.clearFaults();
    this.count();
  }
}
