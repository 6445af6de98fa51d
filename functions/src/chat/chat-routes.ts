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
import { listMessagesRoute, sendMessageRoute } from './routes/messages.ts';
import { deletePinRoute, getPinRoute, listPinsRoute, putPinRoute } from './routes/pins.ts';
import { editMessageRoute, regenerateRoute } from './routes/replacements.ts';
import { streamConversationRoute, streamTurnRoute } from './routes/streams.ts';
import { cancelTurnRoute, getTurnRoute } from './routes/turns.ts';

/** Every route of the function; the router is made from this list. */
export const chatRoutes: readonly Route[] = [
  healthRoute,
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
  sendMessageRoute,
  listMessagesRoute,
  editMessageRoute,
  regenerateRoute,
  getTurnRoute,
  cancelTurnRoute,
  streamConversationRoute,
  streamTurnRoute,
  getContextRoute,
  listPinsRoute,
  getPinRoute,
  putPinRoute,
  deletePinRoute,
  compactRoute,
  cancelCompactionRoute,
  listCompactionsRoute,
  getCompactionRoute,
];
