import { z } from 'zod';

/** An HTTP error in place of an answer. */
export const refusals = ['quota', 'internal', 'unavailable', 'http'] as const;
/** A stream that breaks. */
export const breaks = ['cut', 'silentEnd', 'halfEvent', 'errorEvent'] as const;
/** A finish reason, as Gemini writes it: SAFETY. */
export const endings = [
  'safety',
  'recitation',
  'prohibitedContent',
  'malformedFunctionCall',
  'maxTokens',
] as const;
/** The whole answer comes. */
const nuisances = ['delay', 'stall', 'missingUsage', 'splitBytes', 'openEnd'] as const;

const count = z.int().min(0);

const faultSchema = z.strictObject({
  /** What a client sees of each, and which fields it takes: docs/guides/local.md. */
  kind: z.enum([
    ...refusals,
    ...breaks,
    ...endings,
    ...nuisances,
    'htmlBadGateway',
    'hang',
    'halfText',
    'blockedPrompt',
    'emptyCandidates',
  ]),
  /** Events of the stream before it. */
  afterEvents: count.optional(),
  /** Of `http` and `errorEvent`: the HTTP code, Google's name of it and the message. */
  code: z.int().min(400).max(599).optional(),
  status: z.string().optional(),
  message: z.string().optional(),
  /** Of an ErrorInfo of `http`, as `API_KEY_INVALID`; of `blockedPrompt`, as `SAFETY`. */
  reason: z.string().optional(),
  retryDelayMs: count.optional(),
  delayMs: count.optional(),
  shape: z.enum(['missing', 'emptyList', 'noParts']).optional(),
  sizeBytes: z.int().min(1).optional(),
  /** Which requests it waits for. Default: any. */
  match: z
    .strictObject({
      role: z.string().optional(),
      model: z.string().optional(),
      operation: z.enum(['generateContent', 'streamGenerateContent', 'countTokens']).optional(),
      promptId: z.string().optional(),
    })
    .optional(),
  /** How many requests it befalls. Default 1. */
  times: z.int().min(1).optional(),
});
export type Fault = z.infer<typeof faultSchema>;

/** Whether the fault is one of a group. */
export const isOf = (group: readonly Fault['kind'][], fault: Fault | undefined): boolean =>
  fault !== undefined && group.includes(fault.kind);

/** Whether a client will have to ask again: the fault takes the answer, or a part of it, away. */
export const isFailure = (fault: Fault | undefined): boolean =>
  fault !== undefined && !isOf(nuisances, fault);

/** Faults in the order they were queued; each waits for the next request that it matches. */
export class FaultQueue {
  #waiting: { fault: Fault; left: number }[] = [];

  /** Throws a ZodError for a fault that does not exist; then none is added. */
  add(faults: readonly unknown[]): void {
    const parsed = z.array(faultSchema).parse(faults);
    this.#waiting.push(...parsed.map((fault) => ({ fault, left: fault.times ?? 1 })));
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Requests that are still to meet a fault. */
  get size(): number {
    return this.#waiting.reduce((sum, { left }) => sum + left, 0);
  }

  /** The fault for this request, which is then used up, or undefined. */
  take(request: Required<NonNullable<Fault['match']>>): Fault | undefined {
    const waiting = this.#waiting.find(({ fault: { match = {} } }) =>
      (['role', 'model', 'operation', 'promptId'] as const).every(
        (key) => match[key] === undefined || match[key] === request[key],
      ),
    );
    if (waiting === undefined) return undefined;
    waiting.left -= 1;
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    return waiting.fault;
  }
}

/** Faults of character that a test can order, the same for the same request. All off by default. */
export const vicesSchema = z.strictObject({
  /** The summariser alters a digit of the first number of three digits or more that it writes. */
  inventive: z.boolean().optional(),
  /** The summariser makes constraints of the orders in the history, whoever gives them. */
  obedient: z.boolean().optional(),
  /** The summariser inflates each statement about this many times. */
  verbose: z.number().min(1).max(100).optional(),
  /** The summariser waits this long before the first byte, in milliseconds. */
  slowMs: z.number().min(0).optional(),
  /** Every answer without calls carries a thought signature on its text, as Gemini 3 may give it. */
  signsTexts: z.boolean().optional(),
});
export type Vices = z.infer<typeof vicesSchema>;

/** Dates, times and amounts are one number each. */
const longNumber = /\d(?:[.,:/-]?\d){2,}/;

/** The texts, with another first digit in the first number of three digits or more. */
export function alterNumber(texts: readonly string[]): string[] {
  const altered = texts.findIndex((text) => longNumber.test(text));
  return texts.map((text, index) =>
    index === altered
      ? text.replace(longNumber, (number) => `${(Number(number[0]) % 9) + 1}${number.slice(1)}`)
      : text,
  );
}

/** More than one: what repeats a single phrase is taken for a model in a loop. */
const fillers = [
  'as was mentioned at that point of the conversation',
  'which the participants then went on to talk about',
  'and this was left as it stood afterwards',
  'so far as can be told from what was written',
  'with nothing further to add on the matter',
];

/** A text, and words without any fact behind it: about `times` times as long. */
export function inflate(text: string, times: number): string {
  let inflated = text;
  for (let index = 0; inflated.length < text.length * times; index += 1)
    inflated += `, ${fillers[index % fillers.length]}`;
  return inflated;
}
