import { z } from 'zod';

/** Faults of character that a test can order, the same for the same request. All off by default. */
export const vicesSchema = z.strictObject({
  /** Alters a digit of the first number of three digits or more that it writes down. */
  inventive: z.boolean().optional(),
  /** Makes constraints of the orders in the history, whoever gives them. */
  obedient: z.boolean().optional(),
  /** Says its answer, then the last sentence of it over and over, in a chat alone. */
  chanting: z.boolean().optional(),
  /** Puts a thought signature on texts, too, as Gemini 3 may: not only on the first call of an answer. */
  signsTexts: z.boolean().optional(),
  /** Inflates each statement about this many times. */
  verbose: z.number().min(1).max(100).optional(),
  /** Says nothing: a candidate without parts. */
  empty: z.boolean().optional(),
  /** Stops half way with finishReason MAX_TOKENS. */
  truncated: z.boolean().optional(),
  /** Breaks the XML or JSON. */
  malformed: z.boolean().optional(),
  /** Waits this long before the first byte, in milliseconds. */
  slowMs: z.number().min(0).optional(),
  /** Whom the vices befall. Default: the summariser alone, but `chanting` and `signsTexts` everybody. */
  roles: z.array(z.string()).optional(),
});
export type Vices = z.infer<typeof vicesSchema>;

/** The vices that hold for a request of this role. */
export function vicesFor(vices: Vices, role: string): Vices {
  if (vices.roles !== undefined) return vices.roles.includes(role) ? vices : {};
  if (role === 'utility_compressor') return vices;
  const { chanting, signsTexts } = vices;
  return { chanting, signsTexts };
}

/** Dates, times and amounts are one number each. */
const longNumber = /\d(?:[.,:/-]?\d){2,}/;

/** The texts, with another first digit in the first number of three digits or more. */
export function alterNumber(texts: readonly string[]): string[] {
  const altered = texts.findIndex((text) => longNumber.test(text));
  return texts.map((text, index) =>
    index === altered
      ? text.replace(longNumber, (found) => `${(Number(found[0]) % 9) + 1}${found.slice(1)}`)
      : text,
  );
}

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

/** A text, and its last sentence again until no detector can miss it. */
export function chant(text: string): string {
  const sentence = /[^.!?\n]+[.!?]*\s*$/u.exec(text)?.[0] ?? text;
  return `${text}\n${`${sentence.trim()} `.repeat(200)}`;
}
