import { turnIdOfCall } from '#shared/conversation/context/tool-calls.ts';
import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import type { OpenAiMessage, OpenAiToolMessage } from '#shared/wire/facades/openai.ts';
import { toToolResult } from '#functions/chat/turns/tools/given-result.ts';
import { badField } from './bad-field.ts';
import { messageText } from './message-content.ts';
import { jsonOrText } from './tool-dialogue.ts';

/** What an app gave to the calls of one turn. */
export interface GivenResults {
  /** Place of the first of them among the messages. */
  first: number;
  turnId: string;
  results: ToolResult[];
}

/**
 * The results that a request ends with, the messages of the role `tool` behind all others; `undefined` where it
 * ends with another one. Throws BAD_FIELD where they are of several turns, name a call twice, or cannot be stored.
 */
export function resultsAtEnd(messages: readonly OpenAiMessage[]): GivenResults | undefined {
  const first = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const given = messages
    .slice(first)
    .filter((message): message is OpenAiToolMessage => message.role === 'tool');
  const [one] = given;
  if (!one) return undefined;
  const turnId = turnIdOfCall(one.tool_call_id);
  const seen = new Set<string>();
  for (const [index, { tool_call_id: id }] of given.entries()) {
    const field = `messages[${first + index}].tool_call_id`;
    if (turnIdOfCall(id) !== turnId)
      throw badField(field, `\`${field}\` is of another answer than the messages before it.`);
    if (seen.has(id))
      throw badField(field, `\`${field}\` answers a call that is answered already.`);
    seen.add(id);
  }
  const results = given.map((message, index) =>
    toToolResult(
      { callId: message.tool_call_id, output: jsonOrText(messageText(message)) },
      `messages[${first + index}].content`,
    ),
  );
  return { first, turnId, results };
}
