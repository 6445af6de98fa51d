import { previewCompaction, requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { conversationArg, opsCommand, yesArg } from '../command.ts';
import { readOwned, rehearse } from '#infra/ops/owner.ts';
import { figure } from '../screen.ts';

/** Asks for a compaction as its owner would: the worker does it, within the same limits. */
export const compactCommand = opsCommand({
  name: 'compact',
  description: 'Asks for the compaction of a conversation, as `:compact` does.',
  args: {
    ...conversationArg,
    ...yesArg,
    focus: { type: 'string', valueHint: 'TEXT', description: 'what to keep above all' },
  },
  async run({ args, project, screen }) {
    const owned = await readOwned(project, args.conversation);
    const request = { ...owned, focus: args.focus };
    if (!args.yes) {
      const preview = await previewCompaction(project.chat, owned);
      await rehearse(project.chat, (chat) => requestCompaction(chat, request));
      screen.json(preview);
      screen.print(
        preview.state === 'WOULD_COMPACT'
          ? `would fold ${figure(preview.turnsFolded)} turns, ${preview.from} to ${preview.upTo}, of a context of ${figure(preview.beforeTokens)} tokens; --yes asks for it`
          : `would fold nothing: ${preview.reason ?? preview.state}`,
      );
      return 0;
    }
    const { jobId, state } = await requestCompaction(project.chat, request);
    screen.json({ jobId, state });
    screen.print(
      `compaction ${jobId} is ${state}; \`show ${args.conversation}\` tells its outcome`,
    );
    return 0;
  },
});
