import { z } from 'zod';
import {
  createMemoryBody,
  memoryParams,
  patchMemoryBody,
  memoryListResponse,
  memoryNoteResponse,
  noteView,
} from '#shared/wire/resources/memories.ts';
import { noQuery } from '#shared/wire/queries.ts';
import { createMemory, editMemory, removeNote } from '../features/memory/change-memories.ts';
import { listMemories, readMemory } from '../features/memory/list-memories.ts';
import { emptyBody, noBody, userRoute } from '../route.ts';

const collection = '/v1/users/me/memories';
const path = `${collection}/{memoryId}`;

export const listMemoriesRoute = userRoute({
  operation: 'listMemories',
  method: 'GET',
  path: collection,
  summary:
    'What is remembered about the caller across conversations, where it came from, and how much of it prompts show.',
  params: z.strictObject({}),
  query: noQuery,
  body: noBody,
  response: memoryListResponse,
  statuses: [200],
  handle: async (dependencies, { caller }) => ({
    kind: 'json',
    body: await listMemories(dependencies, caller),
  }),
});

export const createMemoryRoute = userRoute({
  operation: 'createMemory',
  method: 'POST',
  path: collection,
  summary:
    'Remembers something about the caller in all conversations, until it is deleted. The same again is saved once; the `id` of a deleted note is not taken again for 30 days.',
  params: z.strictObject({}),
  query: noQuery,
  body: createMemoryBody,
  response: memoryNoteResponse,
  statuses: [201, 200],
  responseHeaders: { Location: 'The address of the note.' },
  errors: ['MEMORY_FULL', 'IDEMPOTENCY_KEY_REUSED', 'USER_DAILY_CREATIONS', 'ANONYMOUS_LIMIT'],
  example: { text: 'I am allergic to hazelnuts.', topics: ['food', 'cooking'] },
  handle: async (dependencies, { caller, body }) => {
    const { note, isNew } = await createMemory(dependencies, { caller, ...body });
    return {
      kind: 'json',
      status: isNew ? 201 : 200,
      headers: { location: `${collection}/${note.id}` },
      body: noteView(note),
    };
  },
});

export const getMemoryRoute = userRoute({
  operation: 'getMemory',
  method: 'GET',
  path,
  summary: 'One note.',
  params: memoryParams,
  query: noQuery,
  body: noBody,
  response: memoryNoteResponse,
  statuses: [200],
  handle: async (dependencies, { caller, params }) => ({
    kind: 'json',
    body: noteView(await readMemory(dependencies, { caller, ...params })),
  }),
});

export const patchMemoryRoute = userRoute({
  operation: 'patchMemory',
  method: 'PATCH',
  path,
  summary:
    'Changes a note; what is not given stays. A note that a tool saved is the caller’s own from then on.',
  params: memoryParams,
  query: noQuery,
  body: patchMemoryBody,
  response: memoryNoteResponse,
  statuses: [200],
  example: { text: 'I am allergic to all nuts.' },
  handle: async (dependencies, { caller, params, body }) => ({
    kind: 'json',
    body: noteView(await editMemory(dependencies, { caller, ...params, change: body })),
  }),
});

export const deleteMemoryRoute = userRoute({
  operation: 'deleteMemory',
  method: 'DELETE',
  path,
  summary: 'Forgets a note at once, in every conversation. One that is not there is gone already.',
  params: memoryParams,
  query: noQuery,
  body: emptyBody,
  response: noBody,
  statuses: [204],
  handle: async (dependencies, { caller, params }) => {
    await removeNote(dependencies, caller.uid, params.memoryId);
    return { kind: 'empty', status: 204 };
  },
});
