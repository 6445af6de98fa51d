import type { ChatDependencies } from '../chat-dependencies.ts';
import { readBlob } from './read-blob.ts';
import { recallHistory } from './recall-history.ts';
import type { ServerTool } from './server-tool.ts';

type Dependencies = Pick<ChatDependencies, 'config' | 'store' | 'cache'>;

/** The tools that the server brings along, as far as BUILT_IN_TOOLS lists them. */
export function builtInTools(dependencies: Dependencies): ServerTool[] {
  const listed: readonly string[] = dependencies.config.BUILT_IN_TOOLS;
  const tools: ServerTool[] = [recallHistory(dependencies), readBlob(dependencies)];
  return tools.filter(({ name }) => listed.includes(name));
}
