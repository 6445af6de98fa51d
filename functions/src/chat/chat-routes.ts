import type { Route } from './route.ts';
import {
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
import { healthRoute } from './routes/health.ts';
import { listMessagesRoute, sendMessageRoute } from './routes/messages.ts';
import { getTurnRoute } from './routes/turns.ts';

/** Every route of the function; the router is made from this list. */
export const chatRoutes: readonly Route[] = [
  healthRoute,
  createConversationRoute,
  listConversationsRoute,
  getConversationRoute,
  patchConversationRoute,
  sendMessageRoute,
  listMessagesRoute,
  getTurnRoute,
  getContextRoute,
  compactRoute,
  listCompactionsRoute,
  getCompactionRoute,
];
