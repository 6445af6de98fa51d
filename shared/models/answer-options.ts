import { z } from 'zod';

/** How hard a model thinks before it answers. */
const thinkingLevels = ['minimal', 'low', 'medium', 'high'] as const;

/** Values of options, as every wire takes them and turns store them. */
export const optionValues = {
  temperature: z.number().min(0).max(2),
  topP: z.number().min(0).max(1),
  /** 32 bits. */
  seed: z.number().int().min(-2_147_483_648).max(2_147_483_647),
  stopSequence: z
    .string()
    .min(1)
    .max(256)
    .refine((text) => text.isWellFormed(), 'holds half of a surrogate pair; send valid Unicode'),
  functionName: z.string().min(1).max(64),
  /** How many there may be is the model's to say: `refuseLongAnswer`. */
  maxOutputTokens: z.number().int().min(1),
};

/** How a model draws its words; what is absent is as the model does it by itself. */
const samplingSchema = z.strictObject({
  temperature: optionValues.temperature.optional(),
  topP: optionValues.topP.optional(),
  seed: optionValues.seed.optional(),
  stopSequences: z.array(optionValues.stopSequence).max(5).optional(),
  thinkingLevel: z.enum(thinkingLevels).optional(),
});
export type Sampling = z.infer<typeof samplingSchema>;

/** Which function the model has to call with its first words: any, or the one that is named. Absent: as it likes. */
const toolChoiceSchema = z.union([
  z.enum(['none', 'required']),
  z.strictObject({ name: optionValues.functionName }),
]);
export type ToolChoice = z.infer<typeof toolChoiceSchema>;

/** How one message is to be answered, beside what its conversation says. */
const answerOptionsSchema = z.strictObject({
  /** JSON Schema that the text of the answer has to fit. */
  responseSchema: z.record(z.string(), z.unknown()).optional(),
  sampling: samplingSchema.optional(),
  toolChoice: toolChoiceSchema.optional(),
  maxOutputTokens: optionValues.maxOutputTokens.optional(),
});
export type AnswerOptions = z.infer<typeof answerOptionsSchema>;

/**
 * Options as a turn stores them, one JSON text: the database takes no list in a list, which a schema may have. The same
 * options are the same text. Undefined: there are none.
 */
export function encodeAnswerOptions(options: AnswerOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  const json = JSON.stringify(answerOptionsSchema.parse(options));
  return json === '{}' ? undefined : json;
}

/** Options that a later version wrote in another form count for nothing. */
export function decodeAnswerOptions(json: string | undefined): AnswerOptions {
  if (json === undefined) return {};
  return answerOptionsSchema.catch({}).parse(JSON.parse(json));
}
