import { meterCounting } from '#functions/config/conversation-policy.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Content } from '#shared/models/content.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';

export const contentsBytes = (contents: readonly Content[]): number =>
  Buffer.byteLength(JSON.stringify(contents));

/** Uncalibrated tokens of contents in the conversation. */
export const estimateAll = (contents: readonly Content[], conversation: Conversation): number =>
  contents.reduce(
    (sum, content) => sum + estimateContentTokens(content, meterCounting(conversation)),
    0,
  );
