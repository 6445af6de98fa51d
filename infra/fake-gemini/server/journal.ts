import type { Operation } from './request.ts';

export interface JournalEntry {
  /** Number of the request, from 1, countTokens included. */
  n: number;
  /** Arrival, ISO 8601. */
  at: string;
  api: 'gemini' | 'vertex';
  operation: Operation;
  model: string;
  /** Header `x-recap-role`; without one `chat`, '' for countTokens. */
  role: string;
  /** Header `x-recap-prompt-id`, or ''. */
  promptId: string;
  promptTokens: number;
  cachedTokens: number;
  /** Tokens sent so far. */
  outputTokens: number;
  /** HTTP status, once known. */
  httpStatus?: number;
  finishReason?: string;
  /** Message of a refusal by the API's own rules. */
  refusal?: string;
  /** Which recorded answer was given. */
  recorded?: { conversation?: string; ordinal: number };
  /** Kind of the injected fault. */
  fault?: string | undefined;
  /** The client went away before the answer was complete. */
  aborted?: boolean;
  /** Missing while the request runs. */
  durationMs?: number;
}

const mostKept = 500;

/** The newest 500 requests. Their bodies, as received, are for tests in the same process; HTTP gives none. */
export class Journal {
  #requests: { entry: JournalEntry; body: string }[] = [];
  #count = 0;

  open(request: Omit<JournalEntry, 'n' | 'at' | 'outputTokens'>, body: string): JournalEntry {
    this.#count += 1;
    const entry = { n: this.#count, at: new Date().toISOString(), ...request, outputTokens: 0 };
    this.#requests.push({ entry, body });
    if (this.#requests.length > mostKept) this.#requests.shift();
    return entry;
  }

  /** Copies, oldest first. */
  entries(): JournalEntry[] {
    return this.#requests.map(({ entry }) => ({ ...entry }));
  }

  body(n: number): string | undefined {
    return this.#requests.find(({ entry }) => entry.n === n)?.body;
  }

  /** Forgets all; numbers go on. */
  clear(): void {
    this.#requests = [];
  }
}
