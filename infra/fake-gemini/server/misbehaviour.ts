import { z } from 'zod';

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
