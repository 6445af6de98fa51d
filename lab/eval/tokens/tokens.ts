import { readFile, writeFile } from 'node:fs/promises';
import { ArgumentError } from '../replay/replay-arguments.ts';
import { tokenFigures, tokenText } from './token-figures.ts';
import { parseTokenTruth } from './token-truth.ts';
import { parseTokensArguments, tokensHelp, type TokensArguments } from './tokens-arguments.ts';
import { runEvalCommand } from '../run-eval-command.ts';

const write = (text: string): void => void process.stdout.write(text);

async function compareTokens({ dataPath, heldOut, jsonPath }: TokensArguments): Promise<void> {
  const { rows, unreadable } = parseTokenTruth(await readFile(dataPath, 'utf8'));
  if (rows.length === 0) throw new ArgumentError(`${dataPath} holds no counts`);
  const figures = tokenFigures(rows, heldOut);
  write(`${tokenText(figures)}\n\n${rows.length} rows; ${unreadable} could not be read\n`);
  if (jsonPath !== undefined)
    await writeFile(jsonPath, `${JSON.stringify(figures, undefined, 2)}\n`);
}

await runEvalCommand(async () => {
  const wanted = parseTokensArguments(process.argv.slice(2));
  if (wanted === 'help') write(`${tokensHelp}\n`);
  else await compareTokens(wanted);
});
