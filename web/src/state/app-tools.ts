import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import type { TurnView } from '#shared/wire/resources/turns.ts';
import type { ToolResult } from '../api/chat-api.ts';

export type OpenCall = NonNullable<TurnView['openCalls']>[number];
type ToolDeclaration = NonNullable<ConversationView['tools']>[number];

/** A function that this page offers the model: an example of what an app may. */
export const deviceTool: ToolDeclaration = {
  name: 'device_info',
  description:
    'Language, time zone, size of the window and colours of the device that the user has in hand. Use it when an answer depends on the device.',
  parameters: { type: 'object', properties: {} },
};

export const hasDeviceTool = ({ tools = [] }: Pick<ConversationView, 'tools'>): boolean =>
  tools.some(({ name }) => name === deviceTool.name);

/** The declarations with the page's own, or without it; those of others stay. */
export function withDeviceTool(
  { tools = [] }: Pick<ConversationView, 'tools'>,
  isOffered: boolean,
): ToolDeclaration[] {
  const others = tools.filter(({ name }) => name !== deviceTool.name);
  return isOffered ? [...others, deviceTool] : others;
}

/** An answer as it was typed: JSON as such, anything else as a text. */
export function parseOutput(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return { output: typed };
  }
}

/** All results where every open call has one; undefined while the user has not answered all. */
export function completeResults(
  calls: readonly OpenCall[],
  given: ReadonlyMap<string, ToolResult>,
): ToolResult[] | undefined {
  const results = calls.flatMap(({ callId }) => given.get(callId) ?? []);
  return calls.length > 0 && results.length === calls.length ? results : undefined;
}
