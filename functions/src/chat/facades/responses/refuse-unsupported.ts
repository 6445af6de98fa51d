import type { CreateResponseBody } from '#shared/wire/facades/responses/request.ts';
import { createResponseBody } from '#shared/wire/facades/responses/request.ts';
import type { Config } from '#functions/config.ts';
import { badInput } from './bad-input.ts';

/** Fields that change nothing of an answer: who asks, where a provider bills and caches. */
const WITHOUT_MEANING = new Set([
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
  'stream_options',
]);

/** Values of further fields that ask for what is done anyway. */
const AS_IT_IS: Readonly<Record<string, unknown>> = {
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  parallel_tool_calls: true,
};

const KNOWN = new Set(Object.keys(createResponseBody.shape));

/** What may be asked to be included: the only one that there is. */
const INCLUDABLE = 'reasoning.encrypted_content';

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const unknownFields = (body: CreateResponseBody): string[] =>
  Object.entries(body)
    .filter(([field]) => !KNOWN.has(field) && !WITHOUT_MEANING.has(field))
    .filter(([field, value]) => !isEmpty(value) && AS_IT_IS[field] !== value)
    .map(([field]) => field);

function unsupportedFields(body: CreateResponseBody): string[] {
  const { include, reasoning } = body;
  const summary = reasoning?.summary ?? reasoning?.generate_summary ?? null;
  return [
    ...unknownFields(body),
    ...((include ?? []).some((each) => each !== INCLUDABLE) ? ['include'] : []),
    ...(summary === null ? [] : ['reasoning.summary']),
  ];
}

/** What has no effect and is in the requests of clients that nobody has told to send it: told, never refused. */
const toldFields = ({ text }: CreateResponseBody): string[] =>
  (text?.verbosity ?? 'medium') === 'medium' ? [] : ['text.verbosity'];

/**
 * Fields that count for nothing, for the answer to name. Throws BAD_FIELD for the first one that asks for something,
 * where the deployment does not let it pass, and for a tool that is no function.
 */
export function ignoredFields(
  config: Pick<Config, 'OPENAI_UNSUPPORTED'>,
  body: CreateResponseBody,
): string[] {
  const index = (body.tools ?? []).findIndex(({ type }) => type !== 'function');
  const tool = body.tools?.[index];
  if (tool)
    throw badInput(
      `tools[${index}].type`,
      `\`tools[${index}]\` is \`${tool.type.slice(0, 64)}\`, which OpenAI runs and this server does not. Declare a tool of the type \`function\`, and let the app run it.`,
    );
  if (body.background === true && body.stream !== true)
    throw badInput(
      'background',
      '`background` is taken with `stream: true`: an answer goes on without its reader, and GET …/responses/{id} finds it. Set `stream`, or leave `background` out.',
    );
  const fields = unsupportedFields(body);
  const [first] = fields;
  if (first !== undefined && config.OPENAI_UNSUPPORTED !== 'ignore')
    throw badInput(
      first,
      `\`${first}\` is not supported here. Leave it out, or let the deployment set OPENAI_UNSUPPORTED=ignore.`,
    );
  return [...fields, ...toldFields(body)];
}
