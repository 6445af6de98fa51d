import { endedByArguments } from '../support/only-help.ts';
import { INSTALL_TERRAFORM, missingTerraform } from '../support/tools/tools.ts';
import { checkTerraform, terraformFolder, type CheckResult } from './check-terraform.ts';
import { lintTerraform } from './lint/lint-terraform.ts';
import { startOfflineTerraform } from './offline/run-terraform.ts';

const help = `Usage: npm run check:terraform

Lints, formats, validates and tests terraform/ without a provider and without a network. Where there is no
terraform, the lint runs alone: types, arguments, blocks, references and rights, without any expression.

  --help   this text

Exit code: 0 every step passed; 1 a step failed; 2 wrong arguments.`;

async function* steps(): AsyncGenerator<CheckResult> {
  const problems = await lintTerraform(terraformFolder);
  yield { name: 'lint', isPassed: problems.length === 0, output: problems.join('\n') };
  if (missingTerraform().length > 0) return;
  const terraform = await startOfflineTerraform();
  try {
    yield* checkTerraform(terraform, terraformFolder);
  } finally {
    await terraform.stop();
  }
}

async function main(): Promise<number> {
  let failed = 0;
  for await (const { name, isPassed, output } of steps()) {
    console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}`);
    if (isPassed) continue;
    failed += 1;
    console.log(output);
  }
  if (missingTerraform().length > 0)
    console.log(`not run: terraform fmt, validate and test (${INSTALL_TERRAFORM})`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = endedByArguments(help) ?? (await main());
