import type { TurnView } from '#shared/wire/resources/turns.ts';
import type { ToolResult } from '#web/api/chat-api.ts';

export type OpenCall = NonNullable<TurnView['openCalls']>[number];

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
