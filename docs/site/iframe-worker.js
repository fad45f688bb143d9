// SPDX-License-Identifier: BSD-3-Clause
// The search of the site runs in a worker, which browsers refuse to pages that are files. There, an empty frame takes its part.
if (location.protocol === "file:") {
    window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.append(frame);
            const inside = frame.contentWindow;
            inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
            const script = inside.document.createElement("script");
            script.src = url;
            this.loaded = new Promise(done => script.addEventListener("load", () => done(inside)));
            inside.document.body.append(script);
        }
        postMessage(data) {
            this.loaded.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })));
        }
    };
}
