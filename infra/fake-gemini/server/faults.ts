import { z } from 'zod';

const count = z.int().min(0);
const afterEvents = { afterEvents: count.optional() };

const kinds = [
  /** 429 RESOURCE_EXHAUSTED; with RetryInfo when `retryDelayMs` is given. */
  z.strictObject({ kind: z.literal('quota'), retryDelayMs: count.optional() }),
  /** 500 INTERNAL, 503 UNAVAILABLE, 502 with an HTML body. */
  z.strictObject({ kind: z.literal('internal') }),
  z.strictObject({ kind: z.literal('unavailable') }),
  z.strictObject({ kind: z.literal('htmlBadGateway') }),
  /** Any other HTTP error with Google's body. */
  z.strictObject({
    kind: z.literal('http'),
    code: z.int().min(400).max(599),
    status: z.string(),
    message: z.string().optional(),
    /** Of an ErrorInfo beside it, as `API_KEY_INVALID`. */
    reason: z.string().optional(),
  }),
  /** The connection is reset, ends cleanly, ends within an event, or ends with an error event. Default after 1 event. */
  z.strictObject({ kind: z.literal('cut'), ...afterEvents }),
  z.strictObject({ kind: z.literal('silentEnd'), ...afterEvents }),
  z.strictObject({ kind: z.literal('halfEvent'), ...afterEvents }),
  z.strictObject({
    kind: z.literal('errorEvent'),
    ...afterEvents,
    code: z.int().optional(),
    status: z.string().optional(),
  }),
  /** A candidate that ends so; `afterEvents` events of text come first (default none). */
  z.strictObject({ kind: z.literal('safety'), ...afterEvents }),
  z.strictObject({ kind: z.literal('recitation'), ...afterEvents }),
  z.strictObject({ kind: z.literal('prohibitedContent'), ...afterEvents }),
  z.strictObject({ kind: z.literal('malformedFunctionCall'), ...afterEvents }),
  /** Half of the answer, or `afterEvents` events of it, then MAX_TOKENS. */
  z.strictObject({ kind: z.literal('maxTokens'), ...afterEvents }),
  /** promptFeedback.blockReason and no candidates. */
  z.strictObject({ kind: z.literal('blockedPrompt'), reason: z.string().optional() }),
  /** No candidates field, an empty list, or a candidate that STOPs without parts. */
  z.strictObject({
    kind: z.literal('emptyCandidates'),
    shape: z.enum(['missing', 'emptyList', 'noParts']).optional(),
  }),
  /** A normal answer, late, with a pause, without usageMetadata, or written in pieces of n bytes. */
  z.strictObject({ kind: z.literal('delay'), delayMs: count }),
  z.strictObject({ kind: z.literal('stall'), delayMs: count, ...afterEvents }),
  z.strictObject({ kind: z.literal('missingUsage') }),
  z.strictObject({ kind: z.literal('splitBytes'), sizeBytes: z.int().min(1) }),
  /** A whole stream whose connection stays open behind it, until the client leaves. */
  z.strictObject({ kind: z.literal('openEnd') }),
  /** Never answers; ends when the client does. */
  z.strictObject({ kind: z.literal('hang') }),
] as const;

const matchSchema = z.strictObject({
  role: z.string().optional(),
  model: z.string().optional(),
  operation: z.enum(['generateContent', 'streamGenerateContent', 'countTokens']).optional(),
  promptId: z.string().optional(),
});

export const faultSchema = z.discriminatedUnion('kind', kinds);
export type Fault = z.infer<typeof faultSchema>;

/** Which requests a fault waits for (default any), and how many it befalls (default 1). */
const conditionsSchema = z.looseObject({
  match: matchSchema.optional(),
  times: z.int().min(1).optional(),
});

export type QueuedFault = Fault & {
  match?: z.infer<typeof matchSchema>;
  times?: number;
};

interface Waiting {
  match: z.infer<typeof matchSchema>;
  left: number;
  fault: Fault;
}

function parseQueued(queued: unknown): Waiting {
  const { match, times, ...fault } = conditionsSchema.parse(queued);
  return { match: match ?? {}, left: times ?? 1, fault: faultSchema.parse(fault) };
}

/** How the candidate ends, for the faults that are an ending. */
export const finishReasons: Readonly<Partial<Record<Fault['kind'], string>>> = {
  safety: 'SAFETY',
  recitation: 'RECITATION',
  prohibitedContent: 'PROHIBITED_CONTENT',
  malformedFunctionCall: 'MALFORMED_FUNCTION_CALL',
  maxTokens: 'MAX_TOKENS',
};

const answeredKinds: readonly Fault['kind'][] = [
  'delay',
  'stall',
  'missingUsage',
  'splitBytes',
  'openEnd',
];

/** Whether a client will have to ask again: the fault takes the answer, or a part of it, away. */
export function isFailure(fault: Fault | undefined): boolean {
  return fault !== undefined && !answeredKinds.includes(fault.kind);
}

interface FaultTarget {
  role: string;
  model: string;
  operation: string;
  promptId: string;
}

/** Faults in the order they were queued; each waits for the next request that it matches. */
export class FaultQueue {
  #waiting: Waiting[] = [];

  /** Throws a ZodError for a fault that does not exist; then none is added. */
  add(faults: readonly unknown[]): void {
    this.#waiting.push(...faults.map((fault) => parseQueued(fault)));
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Requests that are still to meet a fault. */
  get size(): number {
    return this.#waiting.reduce((sum, entry) => sum + entry.left, 0);
  }

  /** The fault for this request, which is then used up, or undefined. */
  take(target: FaultTarget): Fault | undefined {
    const entry = this.#waiting.find(({ match }) =>
      (['role', 'model', 'operation', 'promptId'] as const).every(
        (key) => match[key] === undefined || match[key] === target[key],
      ),
    );
    if (entry === undefined) return undefined;
    entry.left -= 1;
    this.#waiting = this.#waiting.filter((waiting) => waiting.left > 0);
    return entry.fault;
  }
}
