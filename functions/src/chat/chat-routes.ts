import { aiSdkChatRoute, aiSdkStreamRoute } from './facades/ai-sdk/routes.ts';
import { callableChatRoute } from './facades/callable/routes.ts';
import { chatCompletionsRoute, listModelsRoute } from './facades/openai/routes.ts';
import type { Route } from './route.ts';
import {
  cancelCompactionRoute,
  compactRoute,
  getCompactionRoute,
  getContextRoute,
  listCompactionsRoute,
} from './routes/compaction.ts';
import {
  createConversationRoute,
  getConversationRoute,
  listConversationsRoute,
  patchConversationRoute,
} from './routes/conversations.ts';
import {
  deleteDeviceRoute,
  getDeviceRoute,
  listDevicesRoute,
  putDeviceRoute,
} from './routes/devices.ts';
import { exportConversationRoute, exportUserRoute } from './routes/export.ts';
import { healthRoute } from './routes/health.ts';
import {
  deleteConversationRoute,
  deleteMessageRoute,
  eraseUserRoute,
  forkConversationRoute,
  restoreRoute,
  undeleteConversationRoute,
} from './routes/lifecycle.ts';
import {
  createMemoryRoute,
  deleteMemoryRoute,
  getMemoryRoute,
  listMemoriesRoute,
  patchMemoryRoute,
} from './routes/memories.ts';
import { listMessagesRoute, sendMessageRoute } from './routes/messages.ts';
import { deletePinRoute, getPinRoute, listPinsRoute, putPinRoute } from './routes/pins.ts';
import { deleteFeedbackRoute, putFeedbackRoute, rateCompactionRoute } from './routes/ratings.ts';
import { editMessageRoute, regenerateRoute } from './routes/replacements.ts';
import { searchRoute } from './routes/search.ts';
import { openApiRoute } from './routes/openapi.ts';
import { streamConversationRoute, streamTurnRoute } from './routes/streams.ts';
import { toolResultsRoute } from './routes/tool-results.ts';
import { cancelTurnRoute, getTurnRoute } from './routes/turns.ts';
import { createUploadRoute, getUploadRoute } from './routes/uploads.ts';
import { usageRoute } from './routes/usage.ts';

/** Every route of the function; the router is made from this list. */
export const chatRoutes: readonly Route[] = [
  healthRoute,
  openApiRoute(() => chatRoutes),
  createConversationRoute,
  listConversationsRoute,
  getConversationRoute,
  patchConversationRoute,
  deleteConversationRoute,
  undeleteConversationRoute,
  forkConversationRoute,
  exportConversationRoute,
  deleteMessageRoute,
  restoreRoute,
  exportUserRoute,
  eraseUserRoute,
  usageRoute,
  sendMessageRoute,
  listMessagesRoute,
  searchRoute,
  editMessageRoute,
  regenerateRoute,
  putFeedbackRoute,
  deleteFeedbackRoute,
  getTurnRoute,
  cancelTurnRoute,
  toolResultsRoute,
  streamConversationRoute,
  streamTurnRoute,
  aiSdkChatRoute,
  aiSdkStreamRoute,
  chatCompletionsRoute,
  listModelsRoute,
  callableChatRoute,
  getContextRoute,
  listPinsRoute,
  getPinRoute,
  putPinRoute,
  deletePinRoute,
  compactRoute,
  cancelCompactionRoute,
  listCompactionsRoute,
  getCompactionRoute,
  rateCompactionRoute,
  listDevicesRoute,
  getDeviceRoute,
  putDeviceRoute,
  deleteDeviceRoute,
  listMemoriesRoute,
  createMemoryRoute,
  getMemoryRoute,
  patchMemoryRoute,
  deleteMemoryRoute,
  createUploadRoute,
  getUploadRoute,
];
