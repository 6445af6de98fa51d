import {
  responseResource,
  type ResponseResource,
} from '#shared/wire/facades/responses/response.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { z } from 'zod';
import { responseEvent } from './response-event.ts';
import { startToolServer } from './tool-server.ts';
import type { WireServer } from './wire-server.ts';

export const usage: ModelUsage = {
  promptTokens: 1_000,
  cachedTokens: 800,
  outputTokens: 20,
  thoughtsTokens: 5,
};

/** The same as clients of the Responses API get it. */
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
export async function eventsOf(response: Response): Promise<SentEvent[]> {
  const text = await response.text();
  return text
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
