import { once } from '#shared/lib/once.ts';
import type { Address, DeclaredRoute, Route } from './route.ts';

/**
 * Every route of the function: where it is served, and the file that declares it. The router is made from this list. A
 * file is loaded with the first request to one of its routes, because the schemas of all of them would be a seventh of
 * every start (docs/decisions/operations/0027-a-bundle-is-deployed.md).
 */
export const servedRoutes: readonly ServedRoute[] = [
  ...served(() => import('./routes/service.ts'), {
    healthRoute: ['GET', '/v1/health'],
    listErrorReasonsRoute: ['GET', '/v1/errors'],
    getErrorReasonRoute: ['GET', '/v1/errors/{reason}'],
  }),
  ...served(() => import('./routes/openapi.ts'), {
    openApiRoute: ['GET', '/v1/openapi.json'],
  }),
  ...served(() => import('./routes/conversations.ts'), {
    createConversationRoute: ['POST', '/v1/conversations'],
    getConversationRoute: ['GET', '/v1/conversations/{conversationId}'],
    patchConversationRoute: ['PATCH', '/v1/conversations/{conversationId}'],
  }),
  ...served(() => import('./routes/inbox.ts'), {
    listConversationsRoute: ['GET', '/v1/conversations'],
    readConversationRoute: ['POST', '/v1/conversations/{conversationId}:read'],
    userEventsRoute: ['GET', '/v1/users/me/events'],
    claimGuestRoute: ['POST', '/v1/users/me:claim'],
  }),
  ...served(() => import('./routes/lifecycle.ts'), {
    deleteConversationRoute: ['DELETE', '/v1/conversations/{conversationId}'],
    undeleteConversationRoute: ['POST', '/v1/conversations/{conversationId}:undelete'],
    forkConversationRoute: ['POST', '/v1/conversations/{conversationId}:fork'],
    deleteMessageRoute: ['DELETE', '/v1/conversations/{conversationId}/messages/{messageId}'],
    restoreRoute: ['POST', '/v1/conversations/{conversationId}:restore'],
    eraseUserRoute: ['POST', '/v1/users/me:erase'],
  }),
  ...served(() => import('./routes/transcript.ts'), {
    exportConversationRoute: ['GET', '/v1/conversations/{conversationId}:export'],
    exportUserRoute: ['POST', '/v1/users/me:export'],
    searchRoute: ['GET', '/v1/conversations/{conversationId}:search'],
    searchAllRoute: ['GET', '/v1/users/me/search'],
    foldedTurnsRoute: ['GET', '/v1/conversations/{conversationId}/foldedTurns'],
  }),
  ...served(() => import('./routes/usage.ts'), {
    usageRoute: ['GET', '/v1/users/me/usage'],
  }),
  ...served(() => import('./routes/messages.ts'), {
    sendMessageRoute: ['POST', '/v1/conversations/{conversationId}/messages'],
    listMessagesRoute: ['GET', '/v1/conversations/{conversationId}/messages'],
    editMessageRoute: ['POST', '/v1/conversations/{conversationId}/messages/{messageId}:edit'],
    regenerateRoute: ['POST', '/v1/conversations/{conversationId}/messages/{messageId}:regenerate'],
  }),
  ...served(() => import('./routes/ratings.ts'), {
    putFeedbackRoute: ['PUT', '/v1/conversations/{conversationId}/messages/{messageId}/feedback'],
    deleteFeedbackRoute: [
      'DELETE',
      '/v1/conversations/{conversationId}/messages/{messageId}/feedback',
    ],
    rateCompactionRoute: [
      'POST',
      '/v1/conversations/{conversationId}/compactions/{generation}:rate',
    ],
  }),
  ...served(() => import('./routes/turns.ts'), {
    getTurnRoute: ['GET', '/v1/conversations/{conversationId}/turns/{turnId}'],
    cancelTurnRoute: ['POST', '/v1/conversations/{conversationId}/turns/{turnId}:cancel'],
    toolResultsRoute: ['POST', '/v1/conversations/{conversationId}/turns/{turnId}/toolResults'],
    streamConversationRoute: ['GET', '/v1/conversations/{conversationId}/stream'],
    streamTurnRoute: ['GET', '/v1/conversations/{conversationId}/turns/{turnId}/stream'],
  }),
  ...served(() => import('./facades/ai-sdk/routes.ts'), {
    aiSdkChatRoute: ['POST', '/v1/ai-sdk/chat'],
    aiSdkStreamRoute: ['GET', '/v1/ai-sdk/chat/{chatId}/stream'],
  }),
  ...served(() => import('./facades/openai/routes.ts'), {
    chatCompletionsRoute: ['POST', '/v1/openai/chat/completions'],
    retrieveCompletionRoute: ['GET', '/v1/openai/chat/completions/{completionId}'],
    listModelsRoute: ['GET', '/v1/openai/models'],
    retrieveModelRoute: ['GET', '/v1/openai/models/{model}'],
  }),
  ...served(() => import('./facades/responses/routes.ts'), {
    createResponseRoute: ['POST', ...responsesPaths('')],
    retrieveResponseRoute: ['GET', ...responsesPaths('/{responseId}')],
    deleteResponseRoute: ['DELETE', ...responsesPaths('/{responseId}')],
    cancelResponseRoute: ['POST', ...responsesPaths('/{responseId}/cancel')],
    listInputItemsRoute: ['GET', ...responsesPaths('/{responseId}/input_items')],
  }),
  ...served(() => import('./facades/callable/routes.ts'), {
    callableChatRoute: ['POST', '/callable/chat'],
  }),
  ...served(() => import('./routes/compaction.ts'), {
    getContextRoute: ['GET', '/v1/conversations/{conversationId}/context'],
    compactRoute: [
      'POST',
      '/v1/conversations/{conversationId}:compact',
      '/v1/conversations/{conversationId}:compress',
      '/v1/conversations/{conversationId}:summarize',
    ],
    cancelCompactionRoute: [
      'POST',
      '/v1/conversations/{conversationId}/compactions/{jobId}:cancel',
    ],
    listCompactionsRoute: ['GET', '/v1/conversations/{conversationId}/compactions'],
    getCompactionRoute: ['GET', '/v1/conversations/{conversationId}/compactions/{generation}'],
  }),
  ...served(() => import('./routes/pins.ts'), {
    listPinsRoute: ['GET', '/v1/conversations/{conversationId}/pins'],
    getPinRoute: ['GET', '/v1/conversations/{conversationId}/pins/{pinId}'],
    putPinRoute: ['PUT', '/v1/conversations/{conversationId}/pins/{pinId}'],
    deletePinRoute: ['DELETE', '/v1/conversations/{conversationId}/pins/{pinId}'],
  }),
  ...served(() => import('./routes/devices.ts'), {
    listDevicesRoute: ['GET', '/v1/users/me/devices'],
    getDeviceRoute: ['GET', '/v1/users/me/devices/{deviceId}'],
    putDeviceRoute: ['PUT', '/v1/users/me/devices/{deviceId}'],
    deleteDeviceRoute: ['DELETE', '/v1/users/me/devices/{deviceId}'],
  }),
  ...served(() => import('./routes/memories.ts'), {
    listMemoriesRoute: ['GET', '/v1/users/me/memories'],
    createMemoryRoute: ['POST', '/v1/users/me/memories'],
    getMemoryRoute: ['GET', '/v1/users/me/memories/{memoryId}'],
    patchMemoryRoute: ['PATCH', '/v1/users/me/memories/{memoryId}'],
    deleteMemoryRoute: ['DELETE', '/v1/users/me/memories/{memoryId}'],
  }),
  ...served(() => import('./routes/uploads.ts'), {
    createUploadRoute: ['POST', '/v1/uploads'],
    getUploadRoute: ['GET', '/v1/uploads/{uploadId}'],
  }),
];

/** Both addresses of the Responses API: below the base of OpenAI's clients, and by itself. */
function responsesPaths(path: string): [string, string] {
  return [`/v1/openai/responses${path}`, `/v1/responses${path}`];
}

/** The declarations of all routes, in the order of the list. */
export async function loadRoutes(): Promise<readonly Route[]> {
  const routes = await Promise.all(servedRoutes.map(({ load }) => load()));
  return [...new Set(routes)];
}

/** One address, and how to come by the route that it leads to. */
interface ServedRoute extends Pick<Address, 'method' | 'path'> {
  /** The route with its schemas, made when it is first asked for and kept. */
  load: () => Promise<Route>;
}

/** The routes of a file by their names, each with its method and its paths, the usual one first. */
function served<Name extends string>(
  load: () => Promise<Record<NoInfer<Name>, DeclaredRoute>>,
  places: Readonly<Record<Name, readonly [Address['method'], path: string, ...aliases: string[]]>>,
): ServedRoute[] {
  const routes: ServedRoute[] = [];
  for (const name in places) {
    const [method, path, ...aliases] = places[name];
    const route = once(async () => (await load())[name].at({ method, path, aliases }));
    routes.push(...[path, ...aliases].map((each) => ({ method, path: each, load: route })));
  }
  return routes;
}
