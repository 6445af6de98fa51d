import { runOps } from '#infra/ops/command-line.ts';
import type { DocumentTree } from '#infra/ops/document-tree.ts';
import { createDeadLetters, type DeadLetters } from '#infra/ops/dead-letters.ts';
import type { Project } from '#infra/ops/project.ts';
import { createScreen } from '#infra/ops/screen.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { lastSegment } from '#shared/store/names.ts';
import type { VerifyWorld } from '../compaction/verifying.ts';

/** What a command said and how it ended. */
interface Told {
  code: number;
  out: string;
  err: string;
}

/** Of a store whose documents all stand at their own paths. */
const treeOf = (store: DocumentStore): DocumentTree => ({
  collectionsBelow: () => Promise.resolve([]),
  async *documentsIn(collection) {
    for await (const page of readPages(store, { collection, limit: 300 }))
      yield page.map(({ path }) => lastSegment(path));
  },
});

const noDeadLetters = () =>
  createDeadLetters({
    pull: () => Promise.resolve([]),
    putBack: () => Promise.resolve(),
    acknowledge: () => Promise.resolve(),
    publish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });

/** Runs a command of the operator as the shell would, on the store of a world. */
export async function ops(
  world: Pick<VerifyWorld, 'chat'>,
  argv: readonly string[],
  parts: {
    tree?: DocumentTree | undefined;
    deadLetters?: DeadLetters;
  } = {},
): Promise<Told> {
  let out = '';
  let err = '';
  const screen = createScreen({
    out: (text) => (out += text),
    err: (text) => (err += text),
    isTerminal: false,
    nowMs: () => 0,
  });
  const { chat } = world;
  const tree = parts.tree ?? treeOf(chat.store);
  const deadLetters = parts.deadLetters ?? noDeadLetters();
  const open = (): Promise<Project> =>
    Promise.resolve({
      chat,
      tree,
      sourceDatabase: () => ({ store: chat.store, tree }),
      deadLetters,
      name: 'demo-test',
      [Symbol.asyncDispose]: () => deadLetters.close(),
    });
  const code = await runOps(argv, { screen, open });
  return { code, out, err };
}
