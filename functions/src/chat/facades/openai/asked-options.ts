import type { AnswerOptions, Sampling, ToolChoice } from '#shared/models/answer-options.ts';
import type { ChatCompletionBody } from '#shared/wire/facades/openai.ts';
import type { Config } from '#functions/config.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import { refuseLongAnswer, type LongAnswerConfig } from '#functions/chat/turns/send/long-answer.ts';
import { badField } from './bad-field.ts';
import { systemFields } from './message-content.ts';

/** Fields that are heeded. */
const HEEDED = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'metadata',
  'max_completion_tokens',
  'max_tokens',
  'response_format',
  'n',
  'tools',
  'tool_choice',
  'functions',
  'temperature',
  'top_p',
  'seed',
  'stop',
  'reasoning_effort',
]);

/** Fields that change nothing of an answer: who asks, where a provider bills and caches. */
const WITHOUT_MEANING = new Set([
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
  'store',
]);

/** Values of further fields that ask for what is done anyway. */
const AS_IT_IS: Readonly<Record<string, unknown>> = {
  logprobs: false,
  presence_penalty: 0,
  frequency_penalty: 0,
  parallel_tool_calls: true,
  verbosity: 'medium',
};

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const isTextOnly = (field: string, value: unknown): boolean =>
  field === 'modalities' && JSON.stringify(value) === '["text"]';

/** Fields that ask for something which is not done here. */
const unsupportedFields = (body: ChatCompletionBody): string[] =>
  Object.entries(body)
    .filter(([field]) => !HEEDED.has(field) && !WITHOUT_MEANING.has(field))
    .filter(([field, value]) => !isEmpty(value) && AS_IT_IS[field] !== value)
    .filter(([field, value]) => !isTextOnly(field, value))
    .map(([field]) => field);

/**
 * Fields that count for nothing, for the answer to name. Throws BAD_FIELD for the first one where the deployment
 * does not let them pass.
 */
export function ignoredFields(
  config: Pick<Config, 'OPENAI_UNSUPPORTED' | 'CLIENT_WRITABLE'>,
  body: ChatCompletionBody,
): string[] {
  const fields = unsupportedFields(body);
  const [first] = fields;
  // Nearly every client brings an instruction: it is told, and nobody is turned away for it.
  const instructions = isWritable(config, 'systemInstruction') ? [] : systemFields(body.messages);
  if (first === undefined || config.OPENAI_UNSUPPORTED === 'ignore')
    return [...fields, ...instructions];
  if (first === 'conversation_id')
    throw badField(first, '`conversation_id` belongs into `metadata`: `metadata.conversation_id`.');
  throw badField(
    first,
    `\`${first}\` is not supported here. Leave it out, or let the deployment set OPENAI_UNSUPPORTED=ignore.`,
  );
}

/** The schema that a `response_format` stands for. */
export function schemaOfFormat({
  response_format: format,
}: Pick<ChatCompletionBody, 'response_format'>): AnswerOptions['responseSchema'] {
  switch (format?.type) {
    case 'json_schema':
      return format.json_schema.schema;
    case 'json_object':
      return { type: 'object' };
    case 'text':
    case undefined:
      return undefined;
  }
}

function toolChoiceOf({ tool_choice: choice }: ChatCompletionBody): ToolChoice | undefined {
  if (choice === 'none' || choice === 'required') return choice;
  return typeof choice === 'object' && choice ? { name: choice.function.name } : undefined;
}

/** Throws BAD_FIELD for a choice of a function that the model is not told of. */
export function refuseUnknownChoice(
  body: ChatCompletionBody,
  known: readonly { name: string }[],
): void {
  const choice = toolChoiceOf(body);
  if (typeof choice !== 'object' || known.some(({ name }) => name === choice.name)) return;
  throw badField(
    'tool_choice',
    `\`tool_choice\` names \`${choice.name}\`, which is not among the tools. Declare it in \`tools\`.`,
  );
}

function samplingOf(body: ChatCompletionBody): Sampling {
  const { temperature, top_p: topP, seed, stop, reasoning_effort: effort } = body;
  const stopSequences = typeof stop === 'string' ? [stop] : (stop ?? []);
  return {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof seed === 'number' && { seed }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...(effort && { thinkingLevel: effort === 'none' ? 'minimal' : effort }),
  };
}

/** Throws BAD_FIELD where more is asked for than an answer of the model may have. */
export function refuseLongCompletion(
  config: LongAnswerConfig,
  { body, model }: { body: ChatCompletionBody; model: string },
): void {
  const field =
    typeof body.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens';
  refuseLongAnswer(config, { model, field, maxOutputTokens: body[field] });
}

/** How a request wants to be answered; undefined: as the conversation says. */
export function askedOptions(body: ChatCompletionBody): AnswerOptions | undefined {
  const sampling = samplingOf(body);
  const responseSchema = schemaOfFormat(body);
  const toolChoice = toolChoiceOf(body);
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  const options: AnswerOptions = {
    ...(responseSchema && { responseSchema }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(toolChoice && { toolChoice }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
  return Object.keys(options).length > 0 ? options : undefined;
}
