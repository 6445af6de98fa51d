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
  contentsCount: number;
  /** First 200 code points of the newest user text. */
  lastUserText: string;
  /** Of the contents as JSON. */
  contentsSha256: string;
  /** HTTP status, once known. */
  httpStatus?: number;
  finishReason?: string;
  /** Message of a refusal by the API's own rules. */
  refusal?: string;
  /** Which recorded answer was given. */
  recorded?: { conversation?: string; ordinal: number };
  /** Kind of the injected fault. */
  fault?: string;
  /** The client went away before the answer was complete. */
  aborted?: boolean;
  /** Missing while the request runs. */
  durationMs?: number;
}

const mostEntries = 2_000;

/** The newest 2,000 requests and the bodies of the newest few; what was dropped is counted. */
export class Journal {
  #entries: JournalEntry[] = [];
  readonly #bodies = new Map<number, string>();
  #count = 0;
  #droppedCount = 0;
  keepRequests: number;

  constructor(keepRequests: number) {
    this.keepRequests = keepRequests;
  }

  open(entry: Omit<JournalEntry, 'n' | 'at' | 'outputTokens'>, body: string): JournalEntry {
    this.#count += 1;
    const opened = {
      n: this.#count,
      at: new Date().toISOString(),
      ...entry,
      outputTokens: 0,
    };
    this.#entries.push(opened);
    if (this.#entries.length > mostEntries) {
      this.#entries.shift();
      this.#droppedCount += 1;
    }
    this.#bodies.set(opened.n, body);
    for (const oldest of this.#bodies.keys()) {
      if (this.#bodies.size <= this.keepRequests) break;
      this.#bodies.delete(oldest);
    }
    return opened;
  }

  /** Copies, oldest first. */
  entries(): JournalEntry[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** Body of request `n` as received, while it is kept. */
  body(n: number): string | undefined {
    return this.#bodies.get(n);
  }

  /** Forgets entries and bodies; numbers go on. */
  clear(): void {
    this.#entries = [];
    this.#bodies.clear();
    this.#droppedCount = 0;
  }
}
