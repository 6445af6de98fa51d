import { z } from 'zod';
import {
  responseOutputItem,
  responseOutputText,
  responseResource,
  type ResponseResource,
} from '#shared/wire/facades/responses/response.ts';
import { startToolServer } from '#test/support/wire/tool-server.ts';
import type { WireServer } from '#test/support/wire/wire-server.ts';

/* The events of the Responses API as openresponses.org describes them, with no field beside. */

const number = z.number().int().nonnegative();
const event = <Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) =>
  z.strictObject({ type: z.literal(type), sequence_number: number, ...fields });

const item = { output_index: number };
const named = { ...item, item_id: z.string() };
const content = { ...named, content_index: number };
const whole = { response: responseResource.strict() };
const logprobs = z.array(z.unknown());

const responseEvent = z.discriminatedUnion('type', [
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
  event('response.output_text.annotation.added', {
    ...content,
    annotation_index: number,
    annotation: responseOutputText.shape.annotations.unwrap(),
  }),
  event('response.function_call_arguments.delta', { ...named, delta: z.string() }),
  event('response.function_call_arguments.done', {
    ...named,
    name: z.string(),
    arguments: z.string(),
  }),
]);

/** `usage` of `openai.ts` as clients of the Responses API get it. */
export const usageOfResponses = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 800 },
  output_tokens: 25,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 1_025,
};

/** Chat with a model that calls functions as it is told, where clients bring tools and instructions. */
export const startResponsesServer = (): Promise<WireServer> =>
  startToolServer({ CLIENT_WRITABLE: 'tools,systemInstruction' });

/** An answer of the API as its own schema has it, with nothing else. Throws where it does not fit. */
export const asResource = (response: unknown): ResponseResource => {
  const { output_text: _made, ...sent } = Object(response);
  return responseResource.strict().parse(sent);
};

/** The id of the conversation that a response stands in. Throws where it is not stored. */
export function conversationIdOf(response: unknown): string {
  const { conversation } = asResource(response);
  if (!conversation) throw new Error('the response is not stored');
  return conversation.id;
}

type SentEvent = z.infer<typeof responseEvent>;

/** The events of a stream, each as the protocol has it and named as its `event:` line. Throws where one is not. */
export function eventsIn(stream: string): SentEvent[] {
  return stream
    .split('\n\n')
    .map((block) => block.split('\n'))
    .flatMap((lines) => {
      const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
      if (data === undefined || data === '[DONE]') return [];
      const sent = responseEvent.parse(JSON.parse(data));
      if (!lines.includes(`event: ${sent.type}`)) throw new Error(`${sent.type} has another name`);
      return [sent];
    });
}

/** The response that the last event of a stream holds. Throws where it holds none. */
export function lastResponse(events: readonly SentEvent[]): ResponseResource {
  const last = events.at(-1);
  if (!last || !('response' in last)) throw new Error('the stream did not end');
  return last.response;
}
