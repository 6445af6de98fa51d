import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { terraformFolder } from './check-terraform.ts';

interface Declared {
  name: string;
  description: string;
  /** Text of the default, on one line; absent where the variable must be set. */
  value?: string;
}

/** Blocks of a file by keyword and name, with their text. Formatted files alone: a block ends at `}` in column 0. */
function blocksOf(file: string, keyword: string): { name: string; text: string }[] {
  const source = readFileSync(join(terraformFolder, file), 'utf8');
  const pattern = new RegExp(String.raw`^${keyword} "(\w+)" \{\n([\s\S]*?)^\}`, 'gm');
  return [...source.matchAll(pattern)].map(([, name = '', text = '']) => ({ name, text }));
}

function declared({ name, text }: { name: string; text: string }): Declared {
  const description = /^ {2}description = "(.*)"$/m
    .exec(text)?.[1]
    ?.replaceAll(String.raw`\"`, '"');
  if (description === undefined) throw new Error(`${name} has no description`);
  const value = /^ {2}default\s+= (.*)$/m.exec(text)?.[1];
  return { name, description, ...(value !== undefined && { value }) };
}

export const moduleVariables = (): Declared[] => blocksOf('variables.tf', 'variable').map(declared);
export const moduleOutputs = (): Declared[] => blocksOf('outputs.tf', 'output').map(declared);
