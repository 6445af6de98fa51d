import { forgetMemoryTool, saveMemoryTool } from '#functions/chat/turns/tools/memory-tools.ts';
import type { ToolCallContext } from '#functions/chat/turns/tools/toolbox.ts';
import { buildConversation, type TurnToBuild } from '../compaction/conversation-builder.ts';
import { lifecycle, owner } from '../chat/lifecycle.ts';
import { notesOf } from '../notes.ts';

/** A conversation, and the tools that remember and forget, called in its last turn. */
export async function memoryTools(...turns: readonly (string | TurnToBuild)[]) {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, {
    turns: turns.map((turn) => (typeof turn === 'string' ? { user: turn } : turn)),
  });
  const contextAt = (change: Partial<ToolCallContext> = {}): ToolCallContext => ({
    caller: owner,
    conversationId,
    seq: turns.length,
    key: `t_${turns.length}:0`,
    isApproved: false,
    signal: new AbortController().signal,
    ...change,
  });
  type Saving = Parameters<ReturnType<typeof saveMemoryTool>['run']>[0];
  type Forgetting = Parameters<ReturnType<typeof forgetMemoryTool>['run']>[0];
  return {
    world,
    conversationId,
    save: (args: Saving, change?: Partial<ToolCallContext>) =>
      saveMemoryTool(world.chat).run(args, contextAt(change)),
    asksToSave: (args: Saving) => saveMemoryTool(world.chat).needsApproval?.(args, contextAt()),
    forget: (args: Forgetting, change?: Partial<ToolCallContext>) =>
      forgetMemoryTool(world.chat).run(args, contextAt(change)),
    asksToForget: (args: Forgetting) =>
      forgetMemoryTool(world.chat).needsApproval?.(args, contextAt()),
    notes: async () => (await notesOf(world.store, owner.uid)).notes,
  };
}
