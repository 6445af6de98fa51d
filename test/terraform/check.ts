import { endedByArguments } from '../support/only-help.ts';
import { INSTALL_TERRAFORM, missingTerraform } from '../support/tools.ts';
import { checkTerraform, terraformFolder } from './check-terraform.ts';
import { startOfflineTerraform } from './offline/run-terraform.ts';

const help = `Usage: npm run check:terraform

Formats, validates and tests terraform/ without a provider and without a network.

  --help   this text

Exit code: 0 every step passed, or there is no terraform, which is said; 1 a step failed; 2 wrong arguments.`;

async function main(): Promise<number> {
  if (missingTerraform().length > 0) {
    console.log(`not run: terraform (${INSTALL_TERRAFORM})`);
    return 0;
  }
  const terraform = await startOfflineTerraform();
  let failed = 0;
  try {
    for await (const { name, isPassed, output } of checkTerraform(terraform, terraformFolder)) {
      console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}`);
      if (isPassed) continue;
      failed += 1;
      console.log(output);
    }
  } finally {
    await terraform.stop();
  }
  return failed === 0 ? 0 : 1;
}

process.exitCode = endedByArguments(help) ?? (await main());
