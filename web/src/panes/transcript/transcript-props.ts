import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import type { Draft } from './draft.ts';

export interface TranscriptProps {
  app: App;
  conversation: OpenConversation;
  draft: Draft;
}
