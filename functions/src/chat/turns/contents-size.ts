import { meterCounting } from '#functions/config/conversation-policy.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Content } from '#shared/models/content.ts';
import { utf8Length } from '#shared/store/names.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';

export const contentsBytes = (contents: readonly Content[]): number =>
  utf8Length(JSON.stringify(contents));

/** Uncalibrated tokens of contents in the conversation. */
export const estimateAll = (contents: readonly Content[], conversation: Conversation): number =>
  contents.reduce(
    (sum, content) => sum + estimateContentTokens(content, meterCounting(conversation)),
    0,
  );
