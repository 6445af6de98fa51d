import type { OutputForms } from '#shared/compaction/sent-outputs.ts';
import type { Sha256 } from '#shared/ports/ports.ts';
import type { Config } from '../config.ts';
import { conversationPolicy, meterCounting } from '../config/conversation-policy.ts';

/** What the forms of tool outputs depend on beside the conversation. */
export interface Viewing {
  config: Config;
  sha256: Sha256;
}

/** In which forms the tool outputs of a conversation are sent. One piece of work asks once: parts are weighed once. */
export const selectOutputForms = (
  { config, sha256 }: Viewing,
  conversation: Parameters<typeof conversationPolicy>[1],
): OutputForms => ({
  policy: conversationPolicy(config, conversation),
  counting: { ...meterCounting(conversation), weighed: new Map() },
  blobName: config.BUILT_IN_TOOLS.includes('read_blob') ? sha256 : undefined,
});
