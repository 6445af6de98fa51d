import type { Route } from '../route.ts';
import { reference, type JsonSchema } from './schemas.ts';

/*
 * OpenAPI 3.2 describes one event of a stream with `itemSchema`. This document is 3.1, because generators for
 * Java refuse 3.2. What reads 3.1 takes the `schema` of `text/event-stream` for one event, too, as EventSource
 * gives it: an object with `id` and `data`.
 */

const streamEvent: JsonSchema = {
  type: 'object',
  description:
    'One event of a stream of server-sent events, as EventSource gives it. There are no `event:` lines; comments are heartbeats.',
  required: ['data'],
  properties: {
    id: { type: 'string', description: 'A whole number that rises; the last event has none.' },
    data: {
      type: 'string',
      description: 'A StreamChunk on one line; `[DONE]` in the last event.',
      if: { const: '[DONE]' },
      else: { contentMediaType: 'application/json', contentSchema: reference('StreamChunk') },
    },
  },
};

const facadeStreamEvent: JsonSchema = {
  type: 'object',
  description:
    'One event of a stream of server-sent events, as the protocol of this façade has it.',
  required: ['data'],
  properties: {
    data: { type: 'string', description: 'JSON on one line; OpenAI’s clients end at `[DONE]`.' },
  },
};

const isOurStream = ({ format = 'aip' }: Pick<Route, 'format'>) =>
  format === 'aip' || format === 'ai-sdk';

/** What one event of a route's stream is. */
export const eventSchema = (route: Pick<Route, 'format'>): JsonSchema =>
  reference(isOurStream(route) ? 'StreamEvent' : 'FacadeStreamEvent');

/** The named schemas that events of these routes have. */
export const eventSchemas = (
  streaming: readonly Pick<Route, 'format'>[],
): Record<string, JsonSchema> => ({
  ...(streaming.some(isOurStream) && { StreamEvent: streamEvent }),
  ...(!streaming.every(isOurStream) && { FacadeStreamEvent: facadeStreamEvent }),
});
