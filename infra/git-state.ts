import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface GitState {
  /** Short hash. */
  commit: string;
  /** Files below `paths` that are not committed. */
  changed: string[];
}

/** What of `root` is checked out; undefined where that is no git clone. */
export async function readGitState(root: string, paths: readonly string[]) {
  try {
    const git = async (...command: string[]) =>
      (await promisify(execFile)('git', ['-C', root, ...command])).stdout;
    const commit = (await git('rev-parse', '--short', 'HEAD')).trim();
    const status = await git('status', '--porcelain', '--', ...paths);
    const lines = status.split('\n').filter((line) => line !== '');
    return { commit, changed: lines.map((line) => line.slice(3)) } satisfies GitState;
  } catch {
    return undefined;
  }
}
