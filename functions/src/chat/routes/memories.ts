import {
  createMemory,
  editMemory,
  removeNote,
  listMemories,
  readMemory,
} from '../features/memories.ts';
import { json, noContent, noBody, userRoute } from '../route.ts';
import {
  createMemoryBody,
  memoryParams,
  patchMemoryBody,
  memoryListResponse,
  memoryNoteResponse,
  noteView,
} from '#shared/wire/resources/memories.ts';

export const listMemoriesRoute = userRoute({
  operation: 'listMemories',
  summary:
    'What is remembered about the caller across conversations, where it came from, and how much of it prompts show.',
  response: memoryListResponse,
  handle: async (dependencies, { caller }) => json(await listMemories(dependencies, caller)),
});

export const createMemoryRoute = userRoute({
  operation: 'createMemory',
  summary:
    'Remembers something about the caller in all conversations, until it is deleted. The same again is saved once; the `id` of a deleted note is not taken again for 30 days.',
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
      headers: { location: `/v1/users/me/memories/${note.id}` },
      body: noteView(note),
    };
  },
});

export const getMemoryRoute = userRoute({
  operation: 'getMemory',
  summary: 'One note.',
  params: memoryParams,
  response: memoryNoteResponse,
  handle: async (dependencies, { caller, params }) =>
    json(noteView(await readMemory(dependencies, { caller, ...params }))),
});

export const patchMemoryRoute = userRoute({
  operation: 'patchMemory',
  summary:
    'Changes a note; what is not given stays. A note that a tool saved is the caller’s own from then on.',
  params: memoryParams,
  body: patchMemoryBody,
  response: memoryNoteResponse,
  example: { text: 'I am allergic to all nuts.' },
  handle: async (dependencies, { caller, params, body }) =>
    json(noteView(await editMemory(dependencies, { caller, ...params, change: body }))),
});

export const deleteMemoryRoute = userRoute({
  operation: 'deleteMemory',
  summary: 'Forgets a note at once, in every conversation. One that is not there is gone already.',
  params: memoryParams,
  response: noBody,
  statuses: [204],
  handle: async (dependencies, { caller, params }) => {
    await removeNote(dependencies, caller.uid, params.memoryId);
    return noContent;
  },
});
