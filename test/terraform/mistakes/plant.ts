import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terraformFolder } from '../check-terraform.ts';

/** A change of one place in a file. */
export interface Change {
  mistake: string;
  file: string;
  /** Text that stands there; the first one is replaced. */
  from: string;
  to: string;
}

export interface Mistake extends Change {
  /** What Terraform says. */
  says: string;
  /** What the lint says, where it sees it. */
  lint?: string;
}

/** A copy of the module with all of these mistakes: `<folder>/terraform`. The caller removes the folder. */
export async function plant(mistakes: readonly Change[]): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'recap-mistakes-'));
  const folder = join(copy, 'terraform');
  await cp(terraformFolder, folder, { recursive: true });
  const firestore = join('infra', 'firestore');
  await cp(join(terraformFolder, '..', firestore), join(copy, firestore), { recursive: true });
  for (const { file, from, to } of mistakes) {
    const text = await readFile(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    await writeFile(
      join(folder, file),
      text.replace(from, () => to),
    );
  }
  return copy;
}
