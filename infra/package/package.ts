import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ArgumentError, readOptions, runCommand, recapCommand } from '../command-line.ts';
import { readGitState } from '../git-state.ts';
import { ENTRY_VARIABLE, loadApp } from '#infra/local/load-app.ts';
import { isSource } from '#infra/local/script-path.ts';
import { archiveFiles } from './archive.ts';
import { appProject, repository } from './bundle.ts';
import { type Files, toZip } from './zip.ts';

const help = `Usage: ${recapCommand('package', '[options]')}

Packs both functions into one archive, which Terraform deploys (terraform/README.md): the functions bundled,
Google's SDKs bundled beside them, and a package.json whose only dependency is the functions framework. The same
sources make the same bytes on every machine.

  --out FILE     where to write it (default dist/recap.zip)
${isSource ? '' : '  --entry FILE   the module that exports the functions (default index.ts)\n'}  --help         this text

Exit code: 0 written, 1 something is missing or must not be shipped, 2 wrong arguments.`;

const root = isSource
  ? fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
  : process.cwd();

const kib = (bytes: number) => `${Math.ceil(bytes / 1024).toLocaleString('en')} KiB`;

/** Which sources were packed, for people: what is not committed nobody can pack again. */
async function sourcesLine(): Promise<string> {
  const sources = isSource ? ['functions', 'shared', 'package.json'] : ['.'];
  const git = await readGitState(root, sources);
  if (git === undefined) return 'sources  not of a git clone';
  const { commit, changed } = git;
  if (changed.length === 0) return `sources  commit ${commit}`;
  const shown = changed.slice(0, 5).join(', ') + (changed.length > 5 ? ', …' : '');
  return `sources  commit ${commit}, and ${changed.length} files that are not committed: ${shown}`;
}

function listing(files: Files): string {
  const names = [...files.keys()].toSorted();
  return names
    .map((name) => `  ${name.padEnd(22)} ${kib(files.get(name)?.length ?? 0)}`)
    .join('\n');
}

async function pack({ out: file, entry }: { out: string; entry: string }): Promise<void> {
  // What it defines wrongly is told now, not by the build of the image.
  if (!isSource) await loadApp({ [ENTRY_VARIABLE]: resolve(root, entry) });
  const files = await archiveFiles(isSource ? repository(root) : appProject(root, entry));
  const zip = toZip(files);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, zip);
  process.stdout.write(
    `${relative(process.cwd(), file)}  ${kib(zip.length)}, ${files.size} files
${listing(files)}
sha256   ${createHash('sha256').update(zip).digest('hex')}
${await sourcesLine()}

Next: in ${isSource ? 'terraform/environments/dev (or prod)' : 'terraform'} run \`terraform apply\`. The archive is uploaded under its hash, so
functions are deployed again only when it changed. Then check it, with the web API key of your Firebase project:
\`${recapCommand('smoke', '--url "$(terraform output -raw chat_url)" --api-key KEY')}\`.
`,
  );
}

process.exitCode = await runCommand(help, async (argv) => {
  const {
    help: isHelp,
    out,
    entry,
  } = readOptions(argv, {
    out: { type: 'string', default: resolve(root, 'dist/recap.zip') },
    entry: { type: 'string', default: 'index.ts' },
    help: { type: 'boolean', default: false },
  });
  if (isHelp) return 'help';
  if (!out.endsWith('.zip'))
    throw new ArgumentError(`--out takes a file that ends in .zip, not ${JSON.stringify(out)}`);
  try {
    await pack({ out: resolve(out), entry });
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
});
