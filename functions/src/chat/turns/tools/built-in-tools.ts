import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { forgetMemoryTool } from './forget-memory.ts';
import { readBlob } from './read-blob.ts';
import { recallHistory } from './recall-history.ts';
import { saveMemoryTool } from './save-memory.ts';
import type { ServerTool } from './server-tool.ts';

type Dependencies = Pick<
  ChatDependencies,
  'config' | 'store' | 'cache' | 'clock' | 'sha256' | 'logger'
>;

/** The tools that the server brings along, as far as BUILT_IN_TOOLS lists them. */
export function builtInTools(dependencies: Dependencies): ServerTool[] {
  const listed: readonly string[] = dependencies.config.BUILT_IN_TOOLS;
  const tools: ServerTool[] = [
    recallHistory(dependencies),
    readBlob(dependencies),
    saveMemoryTool(dependencies),
    forgetMemoryTool(dependencies),
  ];
  return tools.filter(({ name }) => listed.includes(name));
}
