import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terraformFolder } from './check-terraform.ts';
import { namesIn, readModule } from './read-module.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The text of a file, by its path in the repository. */
export const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** The files below some folders whose names match, as paths in the repository. */
export const filesBelow = (folders: readonly string[], pattern: RegExp) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => pattern.test(name))
      .map((name) => join(folder, name)),
  );

/** What both functions are made of, as one text. */
export const functionsCode = () =>
  filesBelow(['functions/src', 'shared'], /\.ts$/).map(textOf).join('\n');

/** What the first group of a pattern finds, everywhere in a text. */
export const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

export const unique = (names: readonly string[]) => [...new Set(names)].toSorted();

/** The alerts and objectives of terraform/monitoring.tf, by their keys; how many conditions Google bills of them. */
export async function monitoring(): Promise<{
  alerts: string[];
  objectives: string[];
  conditions: number;
}> {
  const { locals } = await readModule(terraformFolder);
  const alerts = namesIn(locals['alerts']);
  const objectives = [
    ...namesIn(locals['latency_objectives']),
    ...namesIn(locals['outcome_objectives']),
  ];
  // Each has one condition, and so has the alert of each objective.
  return { alerts, objectives, conditions: alerts.length + objectives.length };
}

/** Alerts that have a text in terraform/alerts, by their keys. */
export const alertTexts = () =>
  readdirSync(join(terraformFolder, 'alerts')).map((file) => file.slice(0, -'.md'.length));
