import { expect } from 'vitest';
import type { z } from 'zod';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import type { CallOptions, ChatServer, errorOf } from './chat-server.ts';

/** The JSON of an answer, held to its schema: nothing missing, nothing that is not described. */
export async function readAs<T>(schema: z.ZodType<T>, response: Response): Promise<T> {
  const json: unknown = await response.json();
  const read = schema.parse(json);
  expect(json).toEqual(read);
  return read;
}

/** A new conversation; without `options` an empty one of alice. */
export async function createConversation(server: ChatServer, options: CallOptions = {}) {
  const response = await server.call('/v1/conversations', { body: {}, ...options });
  return readAs(conversationResponse, response);
}

/** No HTML, no stack, an AIP-193 body whose code is that of HTTP. */
export function expectClean(error: Awaited<ReturnType<typeof errorOf>>) {
  expect(error.type).toContain('application/json');
  expect(error.code).toBe(error.http);
  expect(error.text).not.toMatch(/<html|node_modules|\bat .*\.(js|ts):\d+/i);
}
