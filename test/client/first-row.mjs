// Loads a page of runs in headless Chromium, once to warm up and then ROUNDS times, and in turn a page with one row and nothing else, which
// shows what the browser itself takes. Prints how many milliseconds passed from the start of each navigation until the first row was painted:
// node first-row.mjs URL ROUNDS prints {"page":[…],"bare":[…]}
import { createServer } from 'node:http';
import { once } from 'node:events';
import { launch } from './browser.mjs';

const [url, rounds] = process.argv.slice(2);
const server = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><table><tbody><tr><td>a row'));
await once(server.listen(0, '127.0.0.1'), 'listening');
const pages = { page: url, bare: `http://127.0.0.1:${server.address().port}/` };

const browser = await launch();
const times = {};
for (const [name, address] of Object.entries(pages)) {
  const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await tab.addInitScript(() => {
    window.painted = new Promise((resolve) => {
      const look = () => requestAnimationFrame(() => {
        if (!document.querySelector('tbody tr')) look();
        else requestAnimationFrame(() => resolve(performance.now())); // it begins the frame after that which has the row
      });
      look();
    });
  });
  times[name] = [];
  for (let i = 0; i <= Number(rounds); i++) {
    await tab.goto(address, { waitUntil: 'commit' });
    const time = await tab.evaluate(() => window.painted);
    if (i > 0) times[name].push(time);
  }
  await tab.close();
}
await browser.close();
server.close();
console.log(JSON.stringify(times));
