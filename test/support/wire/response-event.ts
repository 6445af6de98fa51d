import { z } from 'zod';
import {
  responseOutputItem,
  responseOutputText,
  responseResource,
} from '#shared/wire/facades/responses/response.ts';

/* The events of the Responses API as openresponses.org describes them, with no field beside. */

const number = z.number().int().nonnegative();
const event = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.strictObject({ type: z.literal(type), sequence_number: number, ...fields });

const item = { output_index: number };
const named = { ...item, item_id: z.string() };
const content = { ...named, content_index: number };
const whole = { response: responseResource.strict() };
const logprobs = z.array(z.unknown());

export const responseEvent = z.discriminatedUnion('type', [
  event('response.created', whole),
  event('response.in_progress', whole),
  event('response.completed', whole),
  event('response.incomplete', whole),
  event('response.failed', whole),
  event('response.output_item.added', { ...item, item: responseOutputItem }),
  event('response.output_item.done', { ...item, item: responseOutputItem }),
  event('response.content_part.added', { ...content, part: responseOutputText }),
  event('response.content_part.done', { ...content, part: responseOutputText }),
  event('response.output_text.delta', { ...content, delta: z.string(), logprobs }),
  event('response.output_text.done', { ...content, text: z.string(), logprobs }),
  event('response.function_call_arguments.delta', { ...named, delta: z.string() }),
  event('response.function_call_arguments.done', {
    ...named,
    name: z.string(),
    arguments: z.string(),
  }),
]);
