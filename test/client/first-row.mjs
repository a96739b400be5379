// Loads a page of runs in headless Chromium, once to warm up and then ROUNDS times, each in a new tab. Prints how many milliseconds passed from the
// start of the navigation until the first row was painted, as a JSON array: node first-row.mjs URL ROUNDS
import { launch } from './browser.mjs';

const [url, rounds] = process.argv.slice(2);
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
await context.addInitScript(() => {
  window.painted = new Promise((resolve) => {
    const look = () => requestAnimationFrame(() => {
      if (!document.querySelector('tbody tr')) look();
      else requestAnimationFrame(() => resolve(performance.now())); // it begins the frame after that which has the row
    });
    look();
  });
});
const times = [];
for (let i = 0; i <= Number(rounds); i++) {
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'commit' });
  const time = await page.evaluate(() => window.painted);
  if (i > 0) times.push(time);
  await page.close();
}
await browser.close();
console.log(JSON.stringify(times));
