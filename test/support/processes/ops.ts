import { runOps } from '#infra/ops/command-line.ts';
import type { DeadLetterBox } from '#infra/ops/letters/dead-letter-box.ts';
import type { DocumentTree } from '#infra/ops/document-tree.ts';
import type { Project } from '#infra/ops/project.ts';
import { createScreen } from '#infra/ops/screen.ts';
import { askChat } from '#infra/ops/ask-chat.ts';
import type { VerifyWorld } from '../compaction/verifying.ts';

/** What a command said and how it ended. */
interface Told {
  code: number;
  out: string;
  err: string;
}

/** Runs a command of the operator as the shell would, on the store of a world. */
export async function ops(
  world: Pick<VerifyWorld, 'chat'>,
  argv: readonly string[],
  parts: { tree?: DocumentTree; deadLetters?: DeadLetterBox; hasKeys?: boolean } = {},
): Promise<Told> {
  let out = '';
  let err = '';
  const screen = createScreen({
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTerminal: false,
    nowMs: () => 0,
  });
  const open = (): Promise<Project> =>
    Promise.resolve({
      chat: world.chat,
      hasKeys: parts.hasKeys ?? true,
      tree: parts.tree,
      sourceDatabase: () => ({ store: world.chat.store, tree: parts.tree }),
      deadLetters: parts.deadLetters,
      askContext: askChat(world.chat, undefined),
      name: 'demo-test',
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  const code = await runOps(argv, { screen, open });
  return { code, out, err };
}
