import { execFile } from 'node:child_process';

/** How a program ended. */
export interface ToolRun {
  isOk: boolean;
  /** What it wrote, errors included. */
  output: string;
}

/** A program is not on this machine. */
export class MissingTool extends Error {}

interface RunOptions {
  cwd?: string;
  environment?: Readonly<Record<string, string>>;
  /** How to install the program, for people. */
  install?: string;
}

const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;

/** Runs a program to its end. Throws MissingTool where it is not installed. */
export function runTool(
  command: string,
  parameters: readonly string[],
  { cwd, environment, install = 'see its documentation' }: RunOptions = {},
): Promise<ToolRun> {
  const { promise, resolve, reject } = Promise.withResolvers<ToolRun>();
  const options = {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...environment },
    maxBuffer: MAX_OUTPUT_BYTES,
  };
  execFile(command, parameters, options, (error, stdout, stderr) => {
    if (error && 'code' in error && error.code === 'ENOENT')
      reject(new MissingTool(`${command} is missing (${install})`));
    else resolve({ isOk: error === null, output: `${stdout}${stderr}` });
  });
  return promise;
}

/** The same, where going on makes no sense after a failure. Throws Error with the end of the output. */
export async function mustRun(...call: Parameters<typeof runTool>): Promise<string> {
  const { isOk, output } = await runTool(...call);
  if (!isOk)
    throw new Error(`${call[0]} failed: ${output.trim().split('\n').slice(-20).join('\n')}`);
  return output;
}
