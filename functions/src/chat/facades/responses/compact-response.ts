import type { z } from 'zod';
import type { compactResponseBody } from '#shared/wire/facades/responses/request.ts';
import type { compactedResponse } from '#shared/wire/facades/responses/response.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { badInput } from './bad-input.ts';
import { compactionItem } from './context-management.ts';

const isEmpty = (input: unknown) =>
  input === null ||
  input === undefined ||
  input === '' ||
  (Array.isArray(input) && input.length === 0);

/** The response whose conversation a request is about. Throws BAD_FIELD. */
export function namedResponse({
  previous_response_id: previous,
  input,
}: z.infer<typeof compactResponseBody>): string {
  if (!isEmpty(input))
    throw badInput(
      'input',
      '`input` is not compacted here: the server compacts what it stores. Leave `input` out, and name a stored response in `previous_response_id`.',
    );
  if (typeof previous === 'string' && previous !== '') return previous;
  throw badInput(
    'previous_response_id',
    '`previous_response_id` must name a stored response: its conversation is compacted.',
  );
}

const NO_TOKENS = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
};

/**
 * One item that stands for the whole conversation, wherever its compaction has come to: the server goes on from what it
 * has then. No tokens are counted: the work begins behind this answer.
 */
export const compactedBody = (
  { clock }: Pick<RouteDependencies, 'clock'>,
  compacted: {
    own: OwnConversation;
    job: { jobId: string; state: string };
  },
): z.infer<typeof compactedResponse> => {
  const { own, job } = compacted;
  const { conversationId } = own;
  const seq = own.conversation.value.lastSeq;
  return {
    id: `resp_${job.jobId}`,
    object: 'response.compaction',
    created_at: Math.floor(clock.now().getTime() / 1_000),
    output: [compactionItem({ conversationId, seq })],
    usage: NO_TOKENS,
    recap: { conversationId, ...job },
  };
};
